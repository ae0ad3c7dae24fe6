import { placementContract } from "@/solver/ensemble/testing/placementContract";
import { milpContract } from "@/solver/milp/testing/milpContract";
import { loadHighsEngine } from "./highsEngine";

milpContract("HiGHS", loadHighsEngine);
placementContract("HiGHS", loadHighsEngine);
