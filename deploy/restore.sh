#!/bin/bash
# Puts a backup of backup.sh into an empty database and the storage, and checks it. Stop the service first.
#   deploy/restore.sh <folder>/<time> [<point in time, in UTC> <folder of the binary logs>]
# APP_KEY must be that of the backup; empty Redis as well when it has survived (redis-cli FLUSHDB).
set -euo pipefail
umask 077
path=$(realpath "${1:?the backup}")
if [ $# -gt 1 ]; then
  end=$(date -u -d "$2" '+%F %T')
  binary_logs=$(realpath "${3:?the folder of the binary logs}")
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. deploy/backup-settings.sh
client=("$(either mariadb mysql)" --defaults-extra-file="$account" --default-character-set=utf8mb4)

(cd "$path" && sha256sum --quiet --check SHA256)
if [ -n "${end:-}" ]; then
  replay=$(either mariadb-binlog mysqlbinlog)
  # Where the dump begins, in its head.
  read -r first position < <(gunzip < "$path/database.sql.gz" |
    sed -nE "1,60s/^-- CHANGE .*_LOG_FILE='(.+)', .*_LOG_POS=([0-9]+);/\1 \2/p") ||
    { echo "the dump was made without DUMP_OPTIONS=--master-data=2" >&2; exit 1; }
  mapfile -t logs < <(ls "$binary_logs/${first%.*}".[0-9]* | sed -n "\#/$first\$#,\$p")
  if [ ${#logs[@]} = 0 ]; then echo "$binary_logs has no $first" >&2; exit 1; fi
fi
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
# Before migrating, because a later release may have migrated, too. The logs have other databases as well.
if [ -n "${end:-}" ]; then
  echo "replaying what was written before $end UTC"
  TZ=UTC "$replay" --database="$database" --start-position="$position" --stop-datetime="$end" "${logs[@]}" |
    "${client[@]}" --binary-mode
fi
node bin/cli.mjs migrate up
node bin/cli.mjs verify
