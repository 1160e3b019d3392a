#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/errors.h"
#include "client/fake_server.h"

namespace linkvane::client {
namespace {

void AddInterfaces(int count, FakeServer* server) {
  for (int i = 1; i <= count; ++i) {
    v1::Interface& interface = server->interfaces.emplace_back();
    interface.set_index(i);
    interface.set_name("eth" + std::to_string(i));
  }
}

TEST(ClientTest, ListsAllPagesInOrder) {
  FakeServer server;
  server.page_size = 3;
  AddInterfaces(10, &server);
  const auto response = Client::Connect({.target = server.target()}).ListInterfaces({});
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->interfaces_size(), 10);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(response->interfaces(i).index(), i + 1);
  EXPECT_EQ(response->next_page_token(), "");
  EXPECT_EQ(response->revision().number(), 42U);
  EXPECT_EQ(server.list_interfaces_requests().size(), 4U);
}

TEST(ClientTest, AsksForTheSameWithEachPage) {
  FakeServer server;
  server.page_size = 1;
  AddInterfaces(2, &server);
  v1::ListInterfacesRequest request;
  request.mutable_filter()->add_kinds("veth");
  request.set_include_stats(true);
  request.set_page_token("not looked at");
  ASSERT_TRUE(Client::Connect({.target = server.target()}).ListInterfaces(request).ok());
  auto requests = server.list_interfaces_requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].page_token(), "");
  EXPECT_EQ(requests[0].max_response_bytes(), 16 << 20);
  EXPECT_EQ(requests[1].page_token(), "1");
  requests[1].clear_page_token();
  EXPECT_EQ(requests[0].SerializeAsString(), requests[1].SerializeAsString());
}

TEST(ClientTest, KeepsTheCallersPageBytes) {
  FakeServer server;
  v1::ListAddrsRequest request;
  request.set_max_response_bytes(12345);
  ASSERT_TRUE(Client::Connect({.target = server.target()}).ListAddrs(request).ok());
  EXPECT_EQ(server.list_addrs_requests().at(0).max_response_bytes(), 12345);
}

TEST(ClientTest, StartsAgainWhenThePagesExpired) {
  FakeServer server;
  server.page_size = 2;
  for (int i = 0; i < 5; ++i) server.addrs.emplace_back().set_address(std::to_string(i));
  server.expirations = 3;
  const auto response = Client::Connect({.target = server.target()}).ListAddrs({});
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->addrs_size(), 5);  // none twice
  EXPECT_EQ(response->addrs(4).address(), "4");
  EXPECT_EQ(server.list_addrs_requests().size(), 3U * 2 + 3);
}

TEST(ClientTest, GivesUpWhenThePagesExpireAgainAndAgain) {
  FakeServer server;
  server.page_size = 2;
  AddInterfaces(5, &server);
  server.expirations = 1000;
  const auto response = Client::Connect({.target = server.target()}).ListInterfaces({});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(GetErrorReason(response.status()), "PAGE_TOKEN_EXPIRED");
  EXPECT_EQ(server.list_interfaces_requests().size(), 4U * 2);
}

TEST(ClientTest, DoesNotRepeatOtherErrors) {
  FakeServer server;
  server.error = LinkvaneError(grpc::StatusCode::ABORTED, "something else", "OTHER");
  EXPECT_FALSE(Client::Connect({.target = server.target()}).ListInterfaces({}).ok());
  EXPECT_EQ(server.list_interfaces_requests().size(), 1U);
}

TEST(ClientTest, TakesMessagesLargerThanGrpcsDefault) {
  FakeServer server;
  server.interfaces.emplace_back().set_alias(std::string(5 << 20, 'x'));
  const auto response = Client::Connect({.target = server.target()}).ListInterfaces({});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->interfaces(0).alias().size(), 5U << 20);
}

TEST(ClientTest, GetsOneInterface) {
  FakeServer server;
  AddInterfaces(3, &server);
  const Client client = Client::Connect({.target = server.target()});
  v1::GetInterfaceRequest request;
  request.set_name("eth2");
  const auto response = client.GetInterface(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->interface().index(), 2);
  request.set_index(7);
  EXPECT_EQ(client.GetInterface(request).status().code(), absl::StatusCode::kNotFound);
}

TEST(ClientTest, KeepsTheDeadline) {
  FakeServer server;
  server.delay = absl::Milliseconds(500);
  const absl::Time start = absl::Now();
  const auto response = Client::Connect({.target = server.target()})
                            .GetServerInfo({}, {.timeout = absl::Milliseconds(50)});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(500));
}

}  // namespace
}  // namespace linkvane::client
