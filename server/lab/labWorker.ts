import { serveTasks } from "@/server/threads/serveTasks";
import { labCells } from "./labCells";
import { makeGround } from "./labGround";
import type { LabThreadAnswer, LabThreadTask } from "./labThread";
import { suggestLab } from "./suggestLab";

/** Entry of a thread of the lab: makes a suggestion, the ground of a run, or requested cells of it. */
let cellOf: ReturnType<typeof labCells> | null = null;

serveTasks((task: LabThreadTask): LabThreadAnswer<LabThreadTask["kind"]> => {
  switch (task.kind) {
    case "suggestion":
      return suggestLab(task.of);
    case "ground":
      return makeGround(task.task);
    case "cells":
      cellOf = labCells(task.task, task.ground);
      return null;
    case "cell":
      if (cellOf === null) throw new Error("A cell was asked for before what it is of.");
      return cellOf(task.key);
  }
});
