// One change of one object: what the state tells its subscriptions.
#ifndef LINKVANE_SERVER_STATE_CHANGE_H_
#define LINKVANE_SERVER_STATE_CHANGE_H_

#include <cstdint>
#include <memory>
#include <mutex>  // NOLINT(build/c++11)
#include <string>

#include "absl/time/time.h"
#include "server/state/row.h"
#include "server/state/wire.h"

namespace linkvane::server {

// A loss of events is told by a Change with neither row.
struct Change {
  uint64_t revision = 0;
  absl::Time time;
  RowPtr before;  // Null: the object is new.
  RowPtr after;   // Null: it is gone.

  bool is_loss() const { return before == nullptr && after == nullptr; }
  const std::string& key() const { return after != nullptr ? after->key : before->key; }

  // The top-level fields that differ, without what runs by itself.
  // Computed when first asked for; any thread.
  const FieldSet& changed_fields() const {
    std::call_once(diffed_, [this] {
      if (before == nullptr || after == nullptr) return;
      changed_ = DifferentFields(before->steady, after->steady);
    });
    return changed_;
  }

 private:
  mutable std::once_flag diffed_;
  mutable FieldSet changed_;
};

using ChangePtr = std::shared_ptr<const Change>;

// Takes changes in their order, with the state's lock held: to be quick, and not to call back.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;
  virtual void Take(const ChangePtr& change) = 0;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_CHANGE_H_
