# RANKING_COMMIT: what is built, for --version. A release outside of git passes -DRANKING_COMMIT=...
if(NOT RANKING_COMMIT)
  execute_process(
    COMMAND git describe --always --dirty --abbrev=12
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE RANKING_COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT RANKING_COMMIT)
  set(RANKING_COMMIT unknown)
endif()
