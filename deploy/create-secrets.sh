#!/bin/sh
# Creates the passwords and keys that compose.yaml needs, in secrets/ next to it. Files that exist are
# kept, so it can be run again at any time.
#
# The containers run as users of their own and see each file with its permissions on this machine.
# So the files are readable for everyone, and the folder only for you.
set -eu
cd "$(dirname "$0")/.."
mkdir -p secrets
chmod 700 secrets
cd secrets
umask 022

random() {
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

[ -e postgres-password ] || random >postgres-password
[ -e database-url ] ||
    printf 'postgresql://honeyguide:%s@postgres/honeyguide' "$(cat postgres-password)" >database-url
[ -e secret-key ] || random >secret-key
# Empty: emails are only logged.
[ -e smtp-url ] || : >smtp-url
