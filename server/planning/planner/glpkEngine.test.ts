import { placementContract } from "@/solver/ensemble/testing/placementContract";
import { milpContract } from "@/solver/milp/testing/milpContract";
import { loadGlpkEngine } from "./glpkEngine";

milpContract("glpk.js", loadGlpkEngine);
placementContract("glpk.js", loadGlpkEngine);
