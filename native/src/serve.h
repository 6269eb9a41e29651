// Serves a Task until a signal ends it.
#pragma once

#include <asio/io_context.hpp>

#include "ipc/listen_path.h"
#include "ipc/server_state.h"
#include "task/task.h"

namespace ranking {

// SIGTERM or SIGINT drains; a second one ends the process at once, with 128 and its number. Returns whether all accepted ranks
// were answered. `io` must outlive the Task, whose completions post to it.
bool serve(asio::io_context& io, Task& task, ipc::ListenPath& path, const ipc::ServerOptions& options);

// Until serve(), and for the second signal: ends the process at once. As process 1 of a container, a signal without a handler
// would be ignored while the model loads.
void end_on_signals();

}  // namespace ranking
