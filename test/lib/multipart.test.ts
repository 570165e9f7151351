// The multipart parser: the same parts however the bytes are cut, and nothing but an error for what is no form.
import test from 'ava';
import fc from 'fast-check';
import { boundaryOf, MultipartInvalid, MultipartParser, type Part } from '../../src/lib/multipart.js';

interface ReadPart extends Part {
  content: string;
}

/** The parts of a body that arrives in these pieces. */
function read(boundary: string, pieces: Buffer[]): ReadPart[] {
  const parser = new MultipartParser(boundary);
  const parts: ReadPart[] = [];
  const contents: Buffer[][] = [];
  let open = false;
  for (const piece of pieces) {
    for (const event of parser.feed(piece)) {
      if (event.kind === 'part') {
        if (open) throw new Error('a part began within another');
        open = true;
        parts.push({ ...event.part, content: '' });
        contents.push([]);
      } else if (event.kind === 'data') contents.at(-1)?.push(Buffer.from(event.bytes));
      else open = false;
    }
  }
  parser.end();
  return parts.map((part, index) => ({
    ...part,
    content: Buffer.concat(contents[index] as Buffer[]).toString('latin1'),
  }));
}

const head = (name: string, filename?: string): string =>
  `Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`;

const form = (parts: [string, string][], boundary = 'B'): Buffer =>
  Buffer.from(
    `${parts.map(([headers, content]) => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`).join('')}--${boundary}--\r\n`,
    'latin1',
  );

const sample = form([
  [head('action'), 'upload'],
  [`${head('file', 'a.bin')}\r\nContent-Type: image/png`, '\r\n--A-\r\n-\r\r\n--C\0ÿ--B\r\n'],
  [head('empty'), ''],
]);

const expected: ReadPart[] = [
  { name: 'action', filename: undefined, content: 'upload' },
  { name: 'file', filename: 'a.bin', content: '\r\n--A-\r\n-\r\r\n--C\0ÿ--B\r\n' },
  { name: 'empty', filename: undefined, content: '' },
];

test('a form is read the same however it is cut', (t) => {
  t.deepEqual(read('B', [sample]), expected);
  t.deepEqual(
    read(
      'B',
      [...sample].map((byte) => Buffer.from([byte])),
    ),
    expected,
  );
  for (let at = 0; at <= sample.length; at++)
    t.deepEqual(read('B', [sample.subarray(0, at), sample.subarray(at)]), expected, `cut at ${at}`);
});

test('any content comes through whole, also one that is made of delimiters', (t) => {
  const piece = fc.constantFrom(
    '\r',
    '\n',
    '\r\n',
    '-',
    '--',
    '\r\n--',
    'bound',
    '\r\n--boun',
    'x',
    '\0',
    '\r\r\n--',
  );
  const content = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
  const cuts = fc.array(fc.nat(400), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 4 }), cuts, (contents, at) => {
      const bytes = form(
        contents.map((text, index) => [head(`p${index}`, 'f'), text]),
        'boundary',
      );
      const edges = [
        0,
        ...at.map((cut) => cut % bytes.length).sort((one, other) => one - other),
        bytes.length,
      ];
      const pieces = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
      const found = read('boundary', pieces).map((part) => part.content);
      if (JSON.stringify(found) !== JSON.stringify(contents))
        throw new Error(JSON.stringify([found, contents]));
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('whatever arrives, the parser ends with parts or with its own error', (t) => {
  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.tuple(fc.nat(sample.length), fc.nat(255)).map(([at, byte]) => {
      const changed = Buffer.from(sample);
      changed[at % sample.length] = byte;
      return changed;
    }),
    fc.nat(sample.length - 1).map((length) => sample.subarray(0, length)),
  );
  let refused = 0;
  fc.assert(
    fc.property(junk, (bytes) => {
      try {
        read('B', [bytes]);
      } catch (error) {
        if (!(error instanceof MultipartInvalid)) throw error;
        refused++;
      }
    }),
    { numRuns: 3000 },
  );
  t.true(refused > 1000);
});

test('names are read as browsers and command lines write them', (t) => {
  const name = (disposition: string): Part => {
    const [part] = read('B', [form([[Buffer.from(disposition).toString('latin1'), 'x']])]) as [ReadPart];
    return { name: part.name, filename: part.filename };
  };
  const cases: [string, string, string | undefined][] = [
    [head('file', '报表.txt'), 'file', '报表.txt'],
    [head('a%22b', 'say %22hi%22%0D%0A.txt'), 'a"b', 'say "hi"\r\n.txt'],
    [head('file', 'say \\"hi\\".txt'), 'file', 'say "hi".txt'],
    [head('file', 'C:\\dir\\a.txt'), 'file', 'C:\\dir\\a.txt'],
    [head('file', 'a;b=c.txt'), 'file', 'a;b=c.txt'],
    [head('file', ''), 'file', ''],
    ['content-disposition:form-data;name=file;filename=a.txt', 'file', 'a.txt'],
    [`${head('file', 'plain.txt')}; filename*=UTF-8''%E8%8C%B6.txt`, 'file', '茶.txt'],
    [`${head('file', 'plain.txt')}; filename*=UTF-8''%E8%8C`, 'file', 'plain.txt'],
    [head('__proto__'), '__proto__', undefined],
  ];
  for (const [disposition, field, filename] of cases)
    t.deepEqual(name(disposition), { name: field, filename }, disposition);
});

test('heads that are too long, encoded, nameless or malformed are refused', (t) => {
  const heads = [
    `${head('a')}\r\nX-Long: ${'x'.repeat(9000)}`,
    `${head('a')}\r\nContent-Transfer-Encoding: base64`,
    'Content-Disposition: form-data',
    'Content-Disposition: attachment; name="a"',
    'Content-Type: text/plain',
    ': nothing',
    'no colon',
  ];
  for (const one of heads)
    t.throws(() => read('B', [form([[one, 'x']])]), { instanceOf: MultipartInvalid }, one);
  const endless = new MultipartParser('B');
  t.throws(
    () => {
      for (const _ of endless.feed(Buffer.from('--B\r\n'))) continue;
      for (let round = 0; round < 1000; round++)
        for (const _ of endless.feed(Buffer.alloc(1000, 'x'))) continue;
    },
    { instanceOf: MultipartInvalid },
  );
});

test('what stands around the parts is skipped, but not without end', (t) => {
  const around = Buffer.concat([Buffer.from('preamble\r\n'), sample, Buffer.from('epilogue')]);
  t.deepEqual(read('B', [around]), expected);
  for (const bytes of [Buffer.alloc(70_000, '\r\n--'), Buffer.concat([sample, Buffer.alloc(70_000)])])
    t.throws(() => read('B', [bytes]), { instanceOf: MultipartInvalid });
  for (const text of ['', '--B', '--B--', '--Bx\r\n\r\n', '--B\r\n']) {
    if (text === '--B--') t.deepEqual(read('B', [Buffer.from(text)]), []);
    else t.throws(() => read('B', [Buffer.from(text)]), { instanceOf: MultipartInvalid }, text);
  }
});

test('the boundary is read from the Content-Type', (t) => {
  t.is(boundaryOf('multipart/form-data; boundary=abc'), 'abc');
  t.is(boundaryOf('Multipart/Form-Data; charset=utf-8; Boundary="a b;c"'), 'a b;c');
  for (const type of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/mixed; boundary=abc',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ])
    t.throws(() => boundaryOf(type), { instanceOf: MultipartInvalid }, type);
});
