// The first import of a test file: gives it a database, a Redis prefix and secrets of its own before the configuration is read.
import { randomBytes } from 'node:crypto';
import { settingsOf } from './settings.js';

/** Settings of this test file; child processes get the same ones. */
export const environment = settingsOf(`test_${randomBytes(6).toString('hex')}`);

Object.assign(process.env, environment);
