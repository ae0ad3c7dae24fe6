import { milpContract } from "@/solver/milp/milpContract";
import { loadHighsEngine } from "./highsEngine";

milpContract("HiGHS", loadHighsEngine);
