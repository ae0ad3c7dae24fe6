import { parentPort, workerData } from "node:worker_threads";
import { labCells } from "./labCells";
import { makeGround } from "./labGround";
import type { LabCellKey, LabThreadReply, LabThreadStart } from "./labTask";
import { suggestLab } from "./suggestLab";

/** Entry of a thread of the lab: makes a suggestion, the ground of a run, or cells of it as they are asked for. */
const port = parentPort;
if (port === null) throw new Error("The lab runs as worker threads only.");

const start = workerData as LabThreadStart;
const reply = (answer: LabThreadReply): void => port.postMessage(answer);

/** What happens, or why it cannot, in a sentence. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (problem) {
    reply({ kind: "failed", message: problem instanceof Error ? problem.message : String(problem) });
  }
}

attempt(() => {
  switch (start.kind) {
    case "suggestion":
      return reply({ kind: "suggestion", suggested: suggestLab(start.of) });
    case "ground":
      return reply({ kind: "ground", ground: makeGround(start.task) });
    case "cells": {
      const cellOf = labCells(start.task, start.ground);
      port.on("message", (key: LabCellKey) => attempt(() => reply({ kind: "cell", cell: cellOf(key) })));
    }
  }
});
