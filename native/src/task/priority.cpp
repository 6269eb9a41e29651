#include "task/priority.h"

#include <sys/resource.h>
#include <unistd.h>

namespace ranking {

// Linux keeps a nice value for each thread, whatever POSIX says of processes. Failing, the thread goes on as it was.
void lower_priority(int nice) {
  const auto thread = static_cast<id_t>(::gettid());
  ::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + nice);
}

}  // namespace ranking
