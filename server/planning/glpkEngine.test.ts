import { milpContract } from "@/solver/milp/milpContract";
import { loadGlpkEngine } from "./glpkEngine";

milpContract("glpk.js", loadGlpkEngine);
