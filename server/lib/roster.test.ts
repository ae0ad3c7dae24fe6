import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Roster } from "./roster";

describe("a roster", () => {
  it("holds what was added and not removed, like a set, whatever the order", () => {
    const members = Array.from({ length: 8 }, (_, name) => ({ name, place: -1 }));
    const step = fc.record({ at: fc.nat(7), adds: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const roster = new Roster<(typeof members)[number]>();
        const model = new Set<(typeof members)[number]>();
        for (const member of members) member.place = -1;
        for (const { at, adds } of steps) {
          const member = members[at]!;
          if (adds && !model.has(member)) {
            roster.add(member);
            model.add(member);
          } else if (!adds) {
            roster.remove(member);
            model.delete(member);
          }
          expect(roster.size).toBe(model.size);
          expect(new Set(roster)).toEqual(model);
        }
      }),
    );
  });

  it("gives all its members up at once, who may then join again", () => {
    const [one, other] = [{ place: -1 }, { place: -1 }];
    const roster = new Roster<{ place: number }>();
    roster.add(one);
    roster.add(other);
    expect(roster.takeAll()).toEqual([one, other]);
    roster.remove(one);
    expect([...roster]).toEqual([]);
    roster.add(other);
    expect([...roster]).toEqual([other]);
  });

  it("is walked through as it was at the beginning, although members leave meanwhile", () => {
    const roster = new Roster<{ place: number }>();
    for (let count = 0; count < 5; count += 1) roster.add({ place: -1 });
    let seen = 0;
    for (const member of roster) {
      seen += 1;
      roster.remove(member);
    }
    expect([seen, roster.size]).toEqual([5, 0]);
  });
});
