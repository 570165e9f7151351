// For a test file that keeps its files in OpenStack Swift; imported right after environment.ts. The servers start with the tests.
import { randomInt } from 'node:crypto';
import test from 'ava';
import { OwnSwift, swiftSettings } from './swift.js';

// Chosen at once, because tests must be declared before anything is waited for.
const port = 10_000 + randomInt(20_000);

Object.assign(process.env, swiftSettings(port));

const swift = new OwnSwift(port);

test.before(() => swift.start());

test.after.always(() => swift.remove());
