// What a test run looks like: AVA's own words about everything but passed tests, of which only what they logged is told, and a
// line per finished file.
import path from 'node:path';

import { root, say, seconds } from './step.mjs';

// AVA's lines about passed tests and what they logged, and its remark about the observer we use.
const PASSED_TEST = /^ {2}✔ /;
const LOGGED_BY_TEST = /^ {4}(ℹ| )/;
const REMARK = /Experiments are enabled|Using configuration from/;
// From this line on AVA tells about the run as a whole; that must wait for the last file.
const CLOSING_PART = '  ─';

// Any of these makes a file fail, even when every one of its tests has passed.
const TROUBLES = new Set([
  'hook-failed',
  'internal-error',
  'missing-ava-import',
  'process-exit',
  'uncaught-exception',
  'unhandled-rejection',
  'worker-failed',
]);

/** Collects the events of one run (see ava.config.mjs) and prints a line for every file that is done. */
export class TestReport {
  passed = 0;
  failed = 0;
  #files = new Map();
  /** AVA's line about the passed test whose log may follow. */
  #passedTest;
  #closingPart = [];

  /** Takes one event. */
  observe({ type, testFile, title, skip, todo }) {
    if (!testFile) {
      if (TROUBLES.has(type)) this.failed++;
      return;
    }
    const file = this.#file(testFile);
    if (type === 'selected-test' && !skip && !todo) file.unfinished.add(title);
    if (TROUBLES.has(type)) file.isTroubled = true;
    if (type === 'test-passed') file.passed++;
    if (type === 'test-failed') file.failed++;
    if (type === 'test-passed' || type === 'test-failed') file.unfinished.delete(title);
    if (type === 'worker-finished' || type === 'worker-failed') this.#close(testFile);
  }

  /** Prints a line of AVA's output; that a test has passed only before what it logged. */
  print(line) {
    if (REMARK.test(line)) return;
    if (PASSED_TEST.test(line)) {
      this.#passedTest = line;
      return;
    }
    if (this.#passedTest && LOGGED_BY_TEST.test(line)) say(this.#passedTest);
    this.#passedTest = undefined;
    if (line === CLOSING_PART || this.#closingPart.length > 0) this.#closingPart.push(line);
    else say(line);
  }

  /** Closes the files that never came to an end; `isClean` is whether AVA itself ended well. */
  finish(isClean) {
    for (const testFile of this.#files.keys()) this.#close(testFile);
    for (const line of this.#closingPart) say(line);
    if (!isClean && this.failed === 0) this.failed = 1;
  }

  /** The closing line, in the form that CI reads. */
  get summary() {
    return `${this.passed} passed, ${this.failed} failed`;
  }

  #file(testFile) {
    if (!this.#files.has(testFile)) {
      const fresh = { startedAt: performance.now(), passed: 0, failed: 0, unfinished: new Set() };
      this.#files.set(testFile, fresh);
    }
    return this.#files.get(testFile);
  }

  // A test that never answered counts as failed; so does a file that broke or that has no tests at all.
  #close(testFile) {
    const file = this.#files.get(testFile);
    if (file.isClosed) return;
    file.isClosed = true;
    const isEmpty = file.passed + file.failed + file.unfinished.size === 0;
    const failed = file.failed + file.unfinished.size || (file.isTroubled || isEmpty ? 1 : 0);
    this.passed += file.passed;
    this.failed += failed;
    const counts = failed > 0 ? `${file.passed} passed, ${failed} failed` : `${file.passed} passed`;
    const time = seconds(performance.now() - file.startedAt);
    say(`${failed > 0 ? '✗' : '✓'} ${sourceOf(testFile)}: ${counts} (${time})`);
    for (const title of file.unfinished) say(`    did not finish: ${title}`);
  }
}

function sourceOf(testFile) {
  return path
    .relative(root, testFile)
    .replace(/^build\//, '')
    .replace(/\.js$/, '.ts');
}
