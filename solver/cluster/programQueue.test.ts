import fc from "fast-check";
import { expect, test } from "vitest";
import type { WaitingWork } from "@/solver/policies/core/policy";
import { ProgramQueue } from "./programQueue";

const work = (id: number, programArrivalSeconds: number): WaitingWork => ({
  ...{ id: String(id), programId: String(id), stage: 0, programArrivalSeconds, queuedSinceSeconds: id, inputTokens: 1 },
  state: { kind: "queued" },
});

test("keeps work in the order in which programs began, then in that of coming, whatever comes and leaves", () => {
  const turn = fc.record({ began: fc.array(fc.nat(5), { maxLength: 5 }), leaves: fc.array(fc.nat(99), { maxLength: 4 }) });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 20 }), (turns) => {
      const queue = new ProgramQueue();
      let waiting: WaitingWork[] = [];
      let came = 0;
      for (const { began, leaves } of turns) {
        for (const seconds of began) {
          const one = work(came++, seconds);
          queue.add(one);
          waiting.push(one);
        }
        const gone = new Set(leaves.map(String));
        const left = waiting.filter(({ id }) => !gone.has(id));
        expect(queue.leave(gone)).toBe(waiting.length - left.length);
        waiting = left;
        const sorted = [...waiting].sort((a, b) => a.programArrivalSeconds - b.programArrivalSeconds || Number(a.id) - Number(b.id));
        expect(queue.shown).toEqual(sorted);
      }
    }),
  );
});
