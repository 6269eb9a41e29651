#include "options.h"

#include <unistd.h>

namespace ranking {
namespace {

// File modes are read as octal, as chmod reads them.
void set_mode(mode_t& mode, const std::string& text) {
  size_t end = 0;
  unsigned long value = 01000;
  try {
    value = std::stoul(text, &end, 8);
  } catch (const std::exception&) {
  }
  if (end != text.size() || value > 0777)
    throw CLI::ValidationError("--socket-mode", text + " is not an octal mode of at most 0777");
  mode = static_cast<mode_t>(value);
}

// So that the copies of one container or service, which differ by host name, need no shell to have a socket each.
std::string expand_host_name(std::string path) {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const size_t at = path.find("%h");
  return at == std::string::npos ? path : path.replace(at, 2, name);
}

void add_socket_options(CLI::App& app, ipc::ListenOptions& listen, ipc::ServerOptions& server) {
  constexpr const char* group = "Socket";
  app.add_option("--socket", listen.path,
                 "Path of the Unix socket, at most 107 bytes; %h in it is the host name; @NAME is in the abstract namespace")
      ->transform(expand_host_name)
      ->envname("RANKING_TASK_SOCKET")
      ->group(group);
  app.add_option_function<std::string>(
         "--socket-mode", [&listen](const std::string& text) { set_mode(listen.mode, text); },
         "Mode of the socket, octal, whatever the umask")
      ->default_str("0660")
      ->envname("RANKING_TASK_SOCKET_MODE")
      ->group(group);
  app.add_option("--socket-group", listen.group, "Group of the socket, name or number; empty: that of the process")
      ->capture_default_str()
      ->envname("RANKING_TASK_SOCKET_GROUP")
      ->group(group);
  app.add_option("--peer-uid", server.peer_uids, "User id that may connect; repeatable; none: all whom the mode lets in")
      ->group(group);
}

void add_limit_options(CLI::App& app, ipc::ServerOptions& server) {
  constexpr const char* group = "Limits";
  app.add_option("--max-connections", server.max_connections, "Connections at a time; more are refused as server_busy")
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-in-flight", server.max_in_flight, "Ranks in flight on one connection; more are refused as server_busy")
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-unread-bytes", server.max_unread_bytes, "Answers a client has not read; beyond, its connection is closed")
      ->capture_default_str()
      ->group(group);
  app.add_option("--frame-timeout-ms", server.frame_timeout_ms, "Time for hello to come, and for the rest of a begun frame")
      ->capture_default_str()
      ->group(group);
  app.add_option("--drain-timeout-ms", server.drain_timeout_ms, "Time for accepted ranks to finish after SIGTERM")
      ->capture_default_str()
      ->envname("RANKING_TASK_DRAIN_TIMEOUT_MS")
      ->group(group);
}

}  // namespace

void add_options(CLI::App& app, Options& options, const std::vector<Backend>& backends) {
  std::vector<std::string> names;
  names.reserve(backends.size());
  for (const Backend& backend : backends) names.push_back(backend.name);
  app.add_option("--task", options.task, "What to serve")->check(CLI::IsMember(names))->envname("RANKING_TASK");
  app.add_flag("--check", options.check, "Load, score one built-in pair, print what is served, and exit");
  app.add_flag("--probe", options.probe,
               "Ask the Task that serves --socket whether it is ready, and exit with 0 if it is, else 1");
  app.add_flag("--version", options.version, "Print versions and exit");
  app.add_option("--log-level", options.log_level, "Least level that is logged; debug has a line for every rank")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str()
      ->envname("RANKING_TASK_LOG_LEVEL");
  add_socket_options(app, options.listen, options.server);
  add_limit_options(app, options.server);
}

}  // namespace ranking
