import { expect, it } from "vitest";
import { createPageKeys, SEQUENCE_MS } from "./pageKeys";

const press = (key: string, timeStamp: number, more: Partial<Pick<KeyboardEvent, "repeat" | "ctrlKey">> = {}) => ({
  key,
  timeStamp,
  repeat: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

it("gives a page its keys, but none that is held down or comes with a modifier", () => {
  const read = createPageKeys();
  expect(read(press("1", 0))).toBe("1");
  expect(read(press("1", 30, { repeat: true }))).toBeNull();
  expect(read(press("1", 60, { ctrlKey: true }))).toBeNull();
});

it("leaves the second key of a sequence to the studio, and no other", () => {
  const read = createPageKeys();
  expect([read(press("g", 5000)), read(press("w", 5100)), read(press("w", 5200))]).toEqual([null, null, "w"]);
  expect([read(press("g", 9000)), read(press("w", 9000 + SEQUENCE_MS))]).toEqual([null, "w"]);
});
