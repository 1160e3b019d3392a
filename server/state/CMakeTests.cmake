# The tests that stand beside the state's code. Included from the directory above.
if(LINKVANE_SANITIZE STREQUAL "fuzzer")
  return()
endif()

add_library(linkvane_state_testing STATIC
  state/testing/fake_kernel.cc
  state/testing/fake_messages.cc
  state/testing/fence_play.cc
  state/testing/staged_state.cc)
target_link_libraries(linkvane_state_testing
  PUBLIC linkvane_state linkvane_netlink_testing GTest::gmock
  PRIVATE linkvane_options)

linkvane_test(state_fence_model_test
  SOURCES state/fence_model_test.cc
  LIBRARIES linkvane_state_testing)
if(LINKVANE_SANITIZE)
  target_compile_definitions(state_fence_model_test PRIVATE LINKVANE_SANITIZED)
endif()

set(tests addr_row bridge_vlans fenced_table filter glob identity interface_row live_values network_state observer
    read_mask refresher slow_reader subscription text values wire)
if(NOT LINKVANE_SANITIZE STREQUAL "thread")
  # It reads JSON with protobuf, whose headers lay out map fields otherwise there than the library.
  list(APPEND tests events_replay replay)
endif()
foreach(test IN LISTS tests)
  linkvane_test(state_${test}_test
    SOURCES state/${test}_test.cc
    LIBRARIES linkvane_state_testing)
endforeach()
