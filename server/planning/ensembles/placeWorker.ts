import { serveTasks } from "@/server/threads/serveTasks";
import { type PlaceTask, placeEnsemble } from "./placeEnsemble";

/** Entry of a thread that makes one placement and ends. */
serveTasks((task: PlaceTask) => placeEnsemble(task));
