// For a test file that stores its files in OpenStack Swift; imported right after environment.ts. The servers start with them.
import test from 'ava';
import { likelyPort } from '../servers/free-port.js';
import { OwnSwift, swiftSettings } from '../servers/swift.js';

// Chosen at once, because tests must be declared before anything is waited for.
const port = likelyPort();

Object.assign(process.env, swiftSettings(port));

const swift = new OwnSwift(port);

test.before(() => swift.start());

test.after.always(() => swift.remove());
