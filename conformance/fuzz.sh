#!/bin/bash
# Runs every fuzzer of the project for a time, one after the other:
#   conformance/fuzz.sh TIME        such as 10m or 5s
# Go's are found by their name; an input that fails is kept by Go itself, in testdata/fuzz. Those of native/fuzz need clang++; what they find
# new stays in build/fuzz, to be merged into native/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
time=$1

case $time in
  *m) seconds=$((${time%m} * 60)) ;;
  *) seconds=${time%s} ;;
esac

grep -rl --include='*_test.go' '^func Fuzz' ipc proxy conformance bench | sort | while read -r file; do
  for name in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$file"); do
    echo "== $name in $(dirname "$file")"
    go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 100x "./$(dirname "$file")" | tail -n 2
  done
done

if ! command -v clang++ >/dev/null; then
  echo "clang++ is not installed (package clang): the fuzzers of native/fuzz are not run" >&2
  exit 0
fi
mkdir -p build/fuzz/{frames,card,tokenizer}
cmake -S native -B build/native-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRANKING_FUZZ=ON \
  -DRANKING_SANITIZE=address,undefined -DRANKING_TESTS=OFF -DRANKING_WITH_OPENVINO=OFF -DRANKING_WITH_TRTMC=ON \
  "-Dtokenizer_target=$PWD/build/cargo" >build/native-fuzz.log 2>&1 || { cat build/native-fuzz.log; exit 1; }
cmake --build build/native-fuzz -j "${JOBS:-$(nproc)}" --target fuzz_frames fuzz_card fuzz_tokenizer | tail -n 1
python3 native/fuzz/make_seeds.py conformance/vectors build/fuzz/seeds
fuzz() { # name, corpora...
  echo "== fuzz_$1 in native/fuzz"
  "build/native-fuzz/fuzz/fuzz_$1" -max_total_time="$seconds" -artifact_prefix=build/fuzz/ -print_final_stats=1 "build/fuzz/$1" "${@:2}" \
    >"build/fuzz/$1.log" 2>&1 || { tail -n 50 "build/fuzz/$1.log"; exit 1; }
  grep -E 'number_of_executed_units|peak_rss_mb' "build/fuzz/$1.log"
}
fuzz frames native/fuzz/corpus build/fuzz/seeds
fuzz card native/fuzz/seeds/card
fuzz tokenizer native/fuzz/seeds/tokenizer
