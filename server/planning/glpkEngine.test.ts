import { placementContract } from "@/solver/ensemble/placementContract";
import { milpContract } from "@/solver/milp/milpContract";
import { loadGlpkEngine } from "./glpkEngine";

milpContract("glpk.js", loadGlpkEngine);
placementContract("glpk.js", loadGlpkEngine);
