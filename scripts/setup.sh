# Sourced by play, test and the scripts: functions that install missing packages without prompts, and print nothing if none is missing.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

usage() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
}

# is_there PROBE: tests whether the library, program, font, file or Python module that PROBE names exists. scripts/packages has the probes.
is_there() {
  local name=${1#*:}
  case $1 in
    lib:*) pkg-config --exists "$name" 2>/dev/null ;;
    bin:*) PATH=$PATH:/usr/sbin:/sbin command -v "$name" >/dev/null ;;
    font:*) [ -n "$(fc-list "${name//_/ }" file 2>/dev/null)" ] ;;
    file:*) compgen -G "$name" >/dev/null ;;
    py:*) compgen -G "/usr/lib/python3/dist-packages/$name" >/dev/null ;;
  esac
}

# missing STAGE…: prints the missing packages of the stages in scripts/packages, each with its probe.
missing() {
  local stage package probe
  while read -r stage package probe; do
    case " $* " in *" ${stage%:} "*) is_there "$probe" || echo "$package $probe" ;; esac
  done < <(grep -v '^#' "$root/scripts/packages") | sort -u
}

# need STAGE…: installs the missing packages with apt, as root or by a sudo without password. Without apt it names them and fails.
need() {
  local lacking packages as_root=() log
  lacking=$(missing "$@")
  [ -n "$lacking" ] || return 0
  if ! command -v apt-get >/dev/null; then
    fail "missing: $(cut -d' ' -f2 <<<"$lacking" | tr '\n' ' ')(this system has no apt to install them)$(in_other_words "$lacking")"
  fi
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null ||
      fail "installing needs root, and sudo would ask for a password; run once: sudo apt-get install $(packages_for "$lacking")"
    as_root=(sudo -n)
  fi
  log=$(mktemp)
  echo "asking apt which packages are available" >&2
  # Updates apt's lists first: packages_for asks apt which of a package's alternative names this release has.
  apt_get update -qq || apt_failed "apt could not update its lists"
  packages=$(packages_for "$lacking")
  echo "installing $packages" >&2
  # shellcheck disable=SC2086
  apt_get install -y -qq --no-install-recommends $packages || apt_failed "apt could not install: $packages"
  rm -f "$log"
}

apt_failed() {
  tail -n 15 "$log" >&2
  rm -f "$log"
  fail "$1"
}

# packages_for LACKING: prints the package names in LACKING, the output of `missing`; of NAME|NAME… the first that apt knows.
packages_for() {
  local names name found chosen=()
  while read -r names _; do
    found=${names%%|*}
    if [ "$found" != "$names" ]; then
      for name in ${names//|/ }; do
        if apt-cache show "$name" >/dev/null 2>&1; then found=$name && break; fi
      done
    fi
    chosen+=("$found")
  done <<<"$1"
  echo "${chosen[@]}"
}

# apt_get ARGUMENT…: waits while another program holds apt's lock, such as the first upgrades of a fresh system.
apt_get() {
  local holder
  until "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get "$@" >"$log" 2>&1 </dev/null; do
    grep -qiE 'could not get lock|unable to lock|locked by another process' "$log" || return 1
    holder=$(sed -nE '/(held by process|another process with pid) /{s/.* (process|pid) ([0-9]+.*)/process \2/p;q}' "$log")
    echo "waiting until another program has installed: ${holder:-it} holds apt's lock" >&2
    sleep 5
  done
}

# in_other_words LACKING: prints a command for dnf, zypper or apk that names packages by the libraries and programs that they provide.
in_other_words() {
  local provided
  provided=$(sed -nE "s/.* lib:(.*)/'pkgconfig(\1)'/p; s|.* bin:(.*)|/usr/bin/\1|p" <<<"$1" | tr '\n' ' ')
  if command -v dnf >/dev/null; then
    printf '; try: dnf install %s' "$provided"
  elif command -v zypper >/dev/null; then
    printf '; try: zypper install %s' "$provided"
  elif command -v apk >/dev/null; then
    printf '; try: apk add %s' "$(sed -nE 's/.* lib:(.*)/pc:\1/p; s/.* bin:(.*)/cmd:\1/p' <<<"$1" | tr '\n' ' ')"
  fi
}

# need_python: sets PYTHON to an interpreter with the modules that Debian lacks. A test whose module cannot be installed is skipped.
need_python() {
  local folder=$root/.build/python module
  [ -x "$folder/bin/python3" ] || /usr/bin/python3 -m venv --system-site-packages "$folder" >/dev/null 2>&1 || return 0
  for module in music21==10.5.1 pretty_midi==0.2.11 chess==1.11.2 gymnasium==1.4.0 pettingzoo==1.27.0 pyspiel=open_spiel==2.0.2; do
    "$folder/bin/python3" -c "import ${module%%=*}" 2>/dev/null && continue
    module=${module#pyspiel=}
    echo "installing $module" >&2
    "$folder/bin/pip" install --retries 1 "$module" >/dev/null 2>&1 || true
  done
  export PYTHON=$folder/bin/python3
}

need_swift() {
  command -v swift >/dev/null || fail "needs Swift 6.3 on the PATH (https://www.swift.org/install)"
}

# SwiftPM prints a warning about Pango's pkg-config flags in every build.
swift_build() {
  swift build "$@" 2> >(grep -v 'prohibited flag(s)' >&2)
}
