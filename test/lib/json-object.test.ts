// The members of a JSON object as written.
import '../support/environment.js';
import test from 'ava';
import { rawMembers } from '../../src/lib/channels/json-object.js';

const members = (text: string) => {
  JSON.parse(text);
  const found = rawMembers(text);
  return found && Object.fromEntries(found);
};

test('values keep every character that they were written with', (t) => {
  for (const raw of [
    ...['{}', '[]', '""', '1.50', 'true', 'null', '{"a":{"b":[1,{"c":"}"}]}}', '[[],["]",","]]'],
    ...['"a\\"},{b"', '"\\\\"', '"\\/\\u4e2d"', '{"x" :\t1 ,\n"sign":"no"}', '"{[:,]}"', '{"a":"\\\\\\""}'],
  ]) {
    t.deepEqual(members(`{"sign":"x==","response":${raw}}`), { sign: '"x=="', response: raw });
    t.deepEqual(members(` { "response" : ${raw} , "sign":"x=="\n} `), { response: raw, sign: '"x=="' });
  }
});

test('names are read as JSON', (t) => {
  t.deepEqual(members('{"a\\u0062":1,"c\\"d":2}'), { ab: '1', 'c"d': '2' });
  t.deepEqual(members('{}'), {});
});

test('a name that comes twice, or no object, has no members', (t) => {
  t.is(members('{"a":1,"b":2,"\\u0061":3}'), undefined);
  for (const text of ['[]', '[{"a":1}]', '"{}"', '1', 'null']) t.is(members(text), undefined, text);
});
