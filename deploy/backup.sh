#!/bin/bash
# Copies files and database into <folder>/<time>; the service continues. See docs/operations.md.
#   deploy/backup.sh <folder> [how many to keep, 14]
# Settings are those of the service; TENANT_CODE in the environment names a tenant. Needs mariadb-client; rsync, or awscli for
# S3. DUMP_OPTIONS=--master-data=2 notes the position in the binary log, for a restore to a point in time.
set -euo pipefail
umask 077
folder=$(realpath -m "${1:?the folder of the backups}")
keep=${2:-14}
[[ $keep =~ ^[1-9][0-9]*$ ]] || { echo "how many to keep is a number from 1, not \"$keep\"" >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
path=$folder/$(date -u +%Y-%m-%dT%H-%M-%S.%3NZ)
unfinished=$path.unfinished
. deploy/backup-settings.sh

dump=$(either mariadb-dump mysqldump)
# MySQL's would write the GTIDs of the server, which only its administrator may restore.
[[ $("$dump" --help) != *set-gtid-purged* ]] || DUMP_OPTIONS="--set-gtid-purged=OFF ${DUMP_OPTIONS:-}"
previous=$(ls -d "$folder"/2*Z 2>/dev/null | tail -1 || true)
mkdir -p "$unfinished/files"

# What the previous backup has is linked, not copied.
copy_files() {
  if [ "$storage_driver" = s3 ]; then
    "${aws[@]}" s3 sync --only-show-errors "$@" "$bucket" "$unfinished/files"
  else
    # 24: a file was deleted meanwhile.
    rsync -a ${previous:+--link-dest="$previous/files"} "$storage/" "$unfinished/files/" || [ $? = 24 ]
  fi
}

# Files before and after the database: every row of the dump has its file.
if [ "$storage_driver" = s3 ] && [ -n "$previous" ]; then cp -al "$previous/files" "$unfinished/"; fi
copy_files --delete
"$dump" --defaults-extra-file="$account" --single-transaction --quick \
  --skip-lock-tables --hex-blob --no-tablespaces --default-character-set=utf8mb4 ${DUMP_OPTIONS:-} "$database" |
  gzip > "$unfinished/database.sql.gz"
copy_files
(cd "$unfinished" && sha256sum database.sql.gz > SHA256)
sync
mv "$unfinished" "$path"
ls -d "$folder"/2*Z | head -n "-$keep" | xargs -r -d '\n' rm -rf
echo "$path"
