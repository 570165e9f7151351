// The import rule of the house: config ← lib ← models ← jobs ← api | worker.
const rule = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });
const package_ = (names) => ({ path: `^node_modules/(${names})/` });

/** Rooms of src/models, and those below each of them. */
const rooms = {
  tables: [],
  access: ['tables'],
  office: ['tables', 'access'],
  logs: ['tables'],
  files: ['tables', 'access', 'office'],
  trade: ['tables', 'access', 'office'],
  exports: ['tables', 'access', 'office', 'files', 'trade'],
  imports: ['tables', 'access', 'office', 'files', 'trade'],
  figures: ['tables', 'access', 'logs', 'trade'],
  migrations: ['tables'],
};

/** What is started: processes, the command line, and what `npm run` calls. */
const entryPoints = [
  'src/[a-z/]+/main\\.ts$',
  'console/src/main\\.tsx$',
  'src/api/print-openapi\\.ts$',
  'config/env-example\\.ts$',
];

const consoleRooms = 'access|trade|files|exports|imports|logs|office';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    rule(
      'config-stands-alone',
      { path: '^config/' },
      { path: '^src/' },
      'config knows nothing of the service',
    ),
    rule(
      'lib-below-all',
      { path: '^src/lib/' },
      { path: '^src/(models|jobs|api|worker)/' },
      'lib knows no noun',
    ),
    rule(
      'models-below-jobs',
      { path: '^src/models/' },
      { path: '^src/(jobs|api|worker)/' },
      'models enqueue nothing',
    ),
    rule(
      'jobs-below-processes',
      { path: '^src/jobs/' },
      { path: '^src/(api|worker)/' },
      'jobs serve both processes',
    ),
    rule(
      'api-and-worker-never-meet',
      { path: '^src/api/' },
      { path: '^src/worker/' },
      'they meet in Redis and MySQL',
    ),
    rule(
      'worker-and-api-never-meet',
      { path: '^src/worker/' },
      { path: '^src/api/' },
      'they meet in Redis and MySQL',
    ),
    rule(
      'resources-stay-apart',
      { path: '^src/api/admin/(.+)\\.ts$' },
      { path: '^src/api/admin/', pathNot: '^src/api/admin/$1\\.ts$' },
      'what two resources share stands in src/api/declare or src/api/flows',
    ),
    rule(
      'channels-know-no-table',
      { path: '^src/lib/channels/' },
      {
        path: [
          '^src/models/',
          '^src/lib/(database|redis|queue)/',
          '^node_modules/(koa|ioredis|sequelize|mysql2)/',
        ],
      },
      'a channel never modifies an order',
    ),
    rule(
      'koa-only-in-api',
      { path: '^(config|src)/', pathNot: '^src/api/' },
      package_('koa|@koa/[^/]+|koa-[^/]+'),
      '',
    ),
    rule(
      'sequelize-only-in-models',
      {
        path: '^(config|src)/',
        pathNot: '^src/(models/|lib/database/)',
      },
      package_('sequelize|sequelize-typescript|mysql2|umzug'),
      'only models and lib/database speak SQL',
    ),
    rule(
      'bullmq-only-in-queue',
      { path: '^(config|src)/', pathNot: '^src/(worker/|lib/queue/)' },
      package_('bullmq'),
      '',
    ),
    ...Object.entries(rooms).map(([room, below]) =>
      rule(
        `models-${room}`,
        { path: `^src/models/${room}/` },
        { path: '^src/models/', pathNot: `^src/models/(${[room, ...below].join('|')})/` },
        'docs/architecture.md has the floors',
      ),
    ),
    rule(
      'http-below-declarations',
      { path: '^src/api/http/', pathNot: '^src/api/http/(health|docs|middleware/.+)\\.ts$' },
      { path: '^src/api/(admin|flows)/' },
      'how requests travel knows no resource',
    ),
    rule(
      'declarations-below-http',
      { path: '^src/api/declare/' },
      { path: '^src/api/(?!declare/)' },
      'a declaration does not know how requests travel',
    ),
    rule(
      'flows-below-resources',
      { path: '^src/api/flows/' },
      { path: '^src/api/(admin/|routes|app|server|main)' },
      'resources use flows',
    ),
    rule(
      'cli-apart',
      { path: '^src/', pathNot: '^src/api/cli/' },
      { path: '^src/api/cli/' },
      'the command line uses the service, never the other way round',
    ),
    rule(
      'cli-without-http',
      { path: '^src/api/cli/' },
      { path: '^(src/api/(http|admin)/|node_modules/koa/)' },
      'commands work while the API is down',
    ),
    rule(
      'commander-only-in-cli',
      { path: '^(config|src)/', pathNot: '^src/api/cli/' },
      package_('commander'),
      '',
    ),
    rule(
      'console-knows-the-document-only',
      { path: '^console/' },
      { path: '^(config|src)/' },
      'the console is a client like any other',
    ),
    rule(
      'console-contract-below-parts',
      { path: '^console/src/contract/' },
      { path: '^console/src/', pathNot: '^console/src/contract/' },
      'app ← rooms ← parts ← contract',
    ),
    rule(
      'console-parts-below-rooms',
      { path: '^console/src/parts/' },
      { path: '^console/src/', pathNot: '^console/src/(parts|contract)/' },
      'app ← rooms ← parts ← contract',
    ),
    rule(
      'console-rooms-stay-apart',
      { path: `^console/src/(${consoleRooms})/` },
      { path: '^console/src/', pathNot: '^console/src/($1|parts|contract)/' },
      'a link to another room is a path',
    ),
    rule('no-cycles', {}, { circular: true }, ''),
    rule(
      'no-orphans',
      { orphan: true, path: '^(config|src)/', pathNot: '(main|\\.d)\\.ts$' },
      {},
      'delete what nobody uses',
    ),
    rule(
      'everything-is-reached',
      { path: `^(${entryPoints.join('|')})` },
      {
        reachable: false,
        path: '^(config|src|console/src)/',
        // console/build/stand-ins.ts puts some parts in the place of a library's own.
        pathNot: ['\\.d\\.ts$', '^console/src/parts/', ...entryPoints],
      },
      'delete what no process, page or command uses',
    ),
    rule(
      'known-packages',
      { path: '^(config|src)/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'] },
      '',
    ),
  ],
  options: {
    doNotFollow: { path: '^node_modules/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
