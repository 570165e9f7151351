// The service that test files share (bin/shared-service.mjs). A file that changes more than its own records, or
// asserts what others may change, starts one for itself: `serviceTest`.
import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { registerCompletionHandler } from 'ava';
import { Client } from './client.js';
import { makeAdmin } from './factories.js';

const { THROW_AWAY_HOME = '', SHARED_SERVICE = '' } = process.env;
const answer = await json(connect(join(THROW_AWAY_HOME, `${SHARED_SERVICE}.sock`)));
const { url } = answer as { url: string };
const anonymous = new Client(url);

// The first administrator is everybody's; each file has a super administrator of its own.
const first = await anonymous.signIn();
const { data: roles } = await first.get('/roles?slug=super-admin');
const account = await makeAdmin(first, [roles.list[0].id]);

/** An API with the worker behind it. */
export const service = {
  url,
  anonymous,
  admin: await anonymous.signIn(account),
  /** Who `admin` is. */
  account,
};

// Connections to the database would keep this process for a while.
registerCompletionHandler(() => process.exit());
