// The first import of a test file that uses the shared service: its settings, before the configuration is read.
import { settingsOf } from './settings.js';

const { SHARED_SERVICE } = process.env;
if (!SHARED_SERVICE) throw new Error('ava.config.js offers no shared service');

Object.assign(process.env, settingsOf(SHARED_SERVICE));
