// The priority of a thread, so that computing never delays answering.
#pragma once

namespace ranking {

// Adds `nice` to the nice value of the calling thread; the threads it starts inherit it. Needs no right: it only steps back.
void lower_priority(int nice);

}  // namespace ranking
