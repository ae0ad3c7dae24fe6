import { expect, it } from "vitest";
import { createCallJournal } from "./callJournal";

const full = Object.assign(new Error("full"), { code: "SQLITE_FULL" });

/** A journal over a disk that can be full. */
function begin() {
  const disk = { isFull: false, writes: [] as (readonly string[])[] };
  const journal = createCallJournal<string>((rows) => {
    if (disk.isFull) throw full;
    if (rows.length > 0) disk.writes.push(rows);
  });
  return { disk, journal };
}

it("records the calls of one turn together, and tells of an end once that is on disk", async () => {
  const { disk, journal } = begin();
  const told: number[] = [];
  await Promise.all([journal.save("a"), journal.end("b", () => told.push(disk.writes.length))]);
  expect([disk.writes, told]).toEqual([[["a", "b"]], [1]]);
});

it("keeps an outcome that the disk does not take until it does, and records it once", async () => {
  const { disk, journal } = begin();
  let told = 0;
  disk.isFull = true;
  await expect(journal.end("a", () => (told += 1))).rejects.toBe(full);
  await expect(journal.writeLeft()).rejects.toBe(full);
  disk.isFull = false;
  await journal.writeLeft();
  await journal.writeLeft();
  expect([disk.writes, told]).toEqual([[["a"]], 1]);
});

it("repeats the end of a call to a listener that failed, without a second row", async () => {
  const { disk, journal } = begin();
  let told = 0;
  const tell = () => {
    told += 1;
    if (told === 1) throw full;
  };
  await expect(journal.end("a", tell)).rejects.toBe(full);
  await journal.writeLeft();
  expect([disk.writes, told]).toEqual([[["a"]], 2]);
});

it("writes at once what waits for the next turn, and has it wait on where that fails", async () => {
  const { disk, journal } = begin();
  const saved = journal.save("a");
  disk.isFull = true;
  expect(() => journal.flush()).toThrow(full);
  disk.isFull = false;
  journal.flush();
  await saved;
  expect(disk.writes).toEqual([["a"]]);
});
