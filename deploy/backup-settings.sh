# Sourced by backup.sh and restore.sh: the settings of the service as $database, $account, $storage, $bucket and $aws.
# In a file, because process lists show arguments.
account=$(mktemp)
trap 'rm -rf "$account" "${unfinished:-}"' EXIT
settings=$(node deploy/backup-settings.mjs "$account") || { echo "$settings" >&2; exit 1; }
eval "$settings"
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_DEFAULT_REGION
aws=(aws ${s3_endpoint:+--endpoint-url "$s3_endpoint"})

# Whichever of two programs is installed.
either() { command -v "$1" || command -v "$2" || { echo "neither $1 nor $2 is installed" >&2; false; }; }
