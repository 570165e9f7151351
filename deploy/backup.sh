#!/bin/bash
# Copies files and database into <folder>/<time>; the service continues. See docs/operations.md.
#   deploy/backup.sh <folder> [how many to keep, 14]
# Settings (DB_, STORAGE_, S3_, TENANT_CODE) come from the environment, else from .env. Needs mariadb-client; rsync, or
# awscli for S3. DUMP_OPTIONS=--master-data=2 notes the position in the binary log, for a restore to a point in time.
set -euo pipefail
umask 077
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:?the folder of the backups}
keep=${2:-14}
. deploy/backup-settings.sh

path=$folder/$(date -u +%Y-%m-%dT%H-%M-%S.%3NZ)
previous=$(ls -d "$folder"/2*Z 2>/dev/null | tail -1 || true)
mkdir -p "$path.unfinished/files"

copy_files() {
  if [ "${STORAGE_DRIVER:-local}" = s3 ]; then
    "${aws[@]}" s3 sync --only-show-errors "$bucket" "$folder/s3"
  else
    # What the previous backup has is linked, not copied. 24: a file was deleted meanwhile.
    rsync -a ${previous:+--link-dest="$(realpath "$previous")/files"} "$storage/" "$path.unfinished/files/" ||
      [ $? = 24 ]
  fi
}

# Files before and after the database: every row of the dump has its file.
copy_files
"$(command -v mariadb-dump || command -v mysqldump)" --defaults-extra-file="$account" --single-transaction --quick \
  --skip-lock-tables --hex-blob --no-tablespaces --default-character-set=utf8mb4 ${DUMP_OPTIONS:-} "$database" |
  gzip > "$path.unfinished/database.sql.gz"
copy_files
(cd "$path.unfinished" && sha256sum database.sql.gz > SHA256)
sync
mv "$path.unfinished" "$path"
ls -d "$folder"/2*Z | head -n "-$keep" | xargs -r rm -rf
echo "$path"
