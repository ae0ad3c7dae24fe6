import { placementContract } from "@/solver/ensemble/placementContract";
import { milpContract } from "@/solver/milp/milpContract";
import { loadHighsEngine } from "./highsEngine";

milpContract("HiGHS", loadHighsEngine);
placementContract("HiGHS", loadHighsEngine);
