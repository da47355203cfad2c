import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProtoBreaks } from './breaking.ts';
import { buf, root } from './records.ts';

const folder = mkdtempSync(join(tmpdir(), 'almanac-breaking-'));
const released = join(folder, 'released.json');

const things = (fields: string, calls = '') => `syntax = "proto3";
package almanac.things.v1;
service Things {
  rpc GetThing(GetThingRequest) returns (Thing);
  ${calls}
}
message GetThingRequest { int32 id = 1; }
message Thing { ${fields} }
`;

function write(text: string): void {
  mkdirSync(join(folder, 'almanac/things/v1'), { recursive: true });
  writeFileSync(join(folder, 'almanac/things/v1/things.proto'), text);
}

const breaks = (text: string) => {
  write(text);
  return findProtoBreaks(folder, 'almanac/things', released);
};

beforeAll(() => {
  copyFileSync(join(root, 'protos/buf.yaml'), join(folder, 'buf.yaml')); // the rules that hold for ours
  write(
    things(
      'int32 id = 1; string name = 2; string label = 3 [deprecated = true];',
      'rpc ListThings(GetThingRequest) returns (Thing);',
    ),
  );
  execFileSync(process.execPath, [buf, 'build', '-o', released], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const list = 'rpc ListThings(GetThingRequest) returns (Thing);';

describe('protos beside those of the last release', () => {
  it('may have more', () => {
    expect(
      breaks(
        things(
          'int32 id = 1; string name = 2; string label = 3; bool odd = 4;',
          `${list} rpc Ask(Thing) returns (Thing);`,
        ),
      ),
    ).toEqual([]);
  });

  it('keep a field that is not deprecated yet, even when its number stays reserved', () => {
    expect(breaks(things('int32 id = 1; reserved 2; reserved "name"; string label = 3;', list))).toEqual([
      expect.stringMatching(/^almanac\/things\/v1\/things\.proto:\d+: .*"name" on message "Thing" was deleted/),
    ]);
  });

  it('may lose a field that the release called deprecated, when its number and name stay reserved', () => {
    expect(breaks(things('int32 id = 1; string name = 2; reserved 3; reserved "label";', list))).toEqual([]);
    expect(breaks(things('int32 id = 1; string name = 2;', list))).not.toEqual([]);
  });

  it('keep calls, and the types of fields', () => {
    expect(breaks(things('int32 id = 1; string name = 2; string label = 3;'))).toHaveLength(1);
    expect(breaks(things('string id = 1; string name = 2; string label = 3;', list))).toHaveLength(1);
  });
});
