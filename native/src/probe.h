// Asks a running ranking-task whether it is ready: the health check of containers.
#pragma once

#include <iosfwd>
#include <string>

namespace ranking {

// hello and ping over the socket at `path`. Returns whether a pong said ready within three seconds; the reason goes to `out`.
bool probe(const std::string& path, std::ostream& out);

}  // namespace ranking
