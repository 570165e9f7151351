#!/bin/bash
# Puts a backup of backup.sh into an empty database and the storage, and checks it. Stop the service first.
#   deploy/restore.sh <folder>/<time>
# APP_KEY must be that of the backup; empty Redis as well when it has survived (redis-cli FLUSHDB).
set -euo pipefail
umask 077
path=$(realpath "${1:?the backup}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. deploy/backup-settings.sh
client=("$(either mariadb mysql)" --defaults-extra-file="$account" --default-character-set=utf8mb4)

(cd "$path" && sha256sum --quiet --check SHA256)
"${client[@]}" -e "CREATE DATABASE IF NOT EXISTS \`$database\` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"
tables=$("${client[@]}" -N -e "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '$database'")
if [ "$tables" != 0 ]; then echo "$database is not empty: drop it first" >&2; exit 1; fi

if [ "$storage_driver" = s3 ]; then
  "${aws[@]}" s3 sync --only-show-errors "$path/files" "$bucket"
else
  mkdir -p "$storage"
  rsync -a "$path/files/" "$storage/"
fi
gunzip < "$path/database.sql.gz" | "${client[@]}" --binary-mode "$database"
node bin/cli.mjs migrate up
node bin/cli.mjs verify
