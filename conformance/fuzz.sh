#!/bin/bash
# Runs every fuzzer of the project for a time, JOBS of them at a time (one a core unless told):
#   conformance/fuzz.sh TIME        such as 10m or 5s
# One that fails shows its output, the others still run, and the script fails. Go's are found by their name; an input that fails is kept by
# Go itself, in testdata/fuzz. Those of native/fuzz need clang++; an input that fails stays in build/fuzz, and so does what they find new, to
# be merged into native/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
time=$1
jobs=${JOBS:-$(nproc)}

case $time in
  [1-9]*m) seconds=$((${time%m} * 60)) ;;
  [1-9]*s) seconds=${time%s} ;;
  *) echo "usage: conformance/fuzz.sh TIME, such as 10m or 5s" >&2; exit 2 ;;
esac
mkdir -p build/fuzz/{frames,card,tokenizer,logs}

go_fuzzers() { # lines: go NAME FOLDER
  grep -rl --include='*_test.go' '^func Fuzz' ipc proxy conformance bench | sort | while read -r file; do
    sed -n "s|^func \(Fuzz[A-Za-z0-9]*\)(.*|go \1 $(dirname "$file")|p" "$file"
  done
}

build_native() {
  cmake -S native -B build/native-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRANKING_FUZZ=ON \
    -DRANKING_SANITIZE=address,undefined -DRANKING_TESTS=OFF -DRANKING_WITH_OPENVINO=OFF -DRANKING_WITH_TRTMC=ON \
    "-Dtokenizer_target=$PWD/build/cargo" >build/native-fuzz.log 2>&1 || { cat build/native-fuzz.log; exit 1; }
  cmake --build build/native-fuzz -j "$jobs" --target fuzz_frames fuzz_card fuzz_tokenizer >&2
  python3 native/fuzz/make_seeds.py conformance/vectors build/fuzz/seeds >&2
}

native_fuzzers() { # lines: native NAME CORPORA...
  echo native frames native/fuzz/corpus build/fuzz/seeds
  echo native card native/fuzz/seeds/card
  echo native tokenizer native/fuzz/seeds/tokenizer
}

# One line of the two above. A worker each, so that the targets share the cores and not one core the targets.
fuzz() {
  case $1 in
    go) go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 100x -parallel 1 "./$3" ;;
    native)
      "build/native-fuzz/fuzz/fuzz_$2" -max_total_time="$seconds" -artifact_prefix=build/fuzz/ -print_final_stats=1 "build/fuzz/$2" "${@:3}" ;;
  esac
}

# Go's engine now and then calls the end of its own time a failure. Whatever it finds it writes down as an input, or says where.
only_its_time_ended() { grep -qx ' *context deadline exceeded' "$1" && ! grep -qE 'Failing input|panic|_test\.go:|hung or terminated' "$1"; }

report() { # runs one and says in one piece what came of it
  local log=build/fuzz/logs/$1-${3//\//-}-$2.log
  if fuzz "$@" >"$log" 2>&1 || only_its_time_ended "$log"; then
    printf '== %s %s in %s: ok; %s\n' "$1" "$2" "$3" "$(grep -E '^fuzz: elapsed|number_of_executed_units' "$log" | tail -n 1)"
  else
    printf '== %s %s in %s: FAILED\n%s\n' "$1" "$2" "$3" "$(tail -n 50 "$log")"
    return 1
  fi
}

export -f fuzz only_its_time_ended report
export time seconds
targets=$(go_fuzzers)
if command -v clang++ >/dev/null; then
  build_native
  targets+=$'\n'$(native_fuzzers)
else
  echo "clang++ is not installed (package clang): the fuzzers of native/fuzz are not run" >&2
fi
# shellcheck disable=SC2016 # it is the inner shell that splits the line
xargs -P "$jobs" -I {} bash -c 'report $1' - {} <<<"$targets"
