# Warnings, sanitizers and hardening for all of our targets. Third-party headers come in as SYSTEM includes and are exempt.
add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wno-missing-field-initializers)  # designated initializers leave fields to their defaults on purpose

# No path of the machine that builds, so that the same sources give the same bytes in any folder.
cmake_path(GET CMAKE_SOURCE_DIR PARENT_PATH repository)
add_compile_options(-ffile-prefix-map=${repository}=.)

if(RANKING_SANITIZE)
  # gcc warns of what its own instrumentation does to <regex> and others; the plain build keeps -Werror.
  add_compile_options(-Wno-error)
  add_compile_options(-fsanitize=${RANKING_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RANKING_SANITIZE})
  # This check opens a pipe to find out whether memory can be read: without a descriptor left, as in a test of just that, it calls a sound
  # object invalid. AddressSanitizer sees what it is there for.
  if(RANKING_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=vptr)
  endif()
  # asio has fences, of which gcc warns that ThreadSanitizer does not see them. What passes between threads here is under a mutex.
  if(RANKING_SANITIZE STREQUAL thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)
  endif()
else()
  add_compile_options(-fstack-protector-strong)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
