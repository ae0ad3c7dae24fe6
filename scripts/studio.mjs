// `npm run studio`: a studio with an embedded cluster whose GPUs are emulated.
import { launchStudio } from "./launchStudio.mjs";

await launchStudio({ clusterLines: ["embedded and emulated: no GPU is used"], endLine: "Ctrl-C ends everything." });
