# Sourced by the tests of this folder that wait for containers; they define die.

# within SECONDS WHAT COMMAND...: repeats the command until it succeeds.
within() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $end ] || die "$what: not in time"
    sleep 0.1
  done
}
