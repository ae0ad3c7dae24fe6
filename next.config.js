/** @type {import('next').NextConfig} */
export default {
  agentRules: false,
  poweredByHeader: false,
  reactStrictMode: true,
  typedRoutes: true,
  allowedDevOrigins: ["127.0.0.1"],
  // Native and WASM packages are read from node_modules, never from the bundle.
  serverExternalPackages: ["@kubernetes/client-node", "better-sqlite3", "glpk.js", "highs", "pino", "prom-client"],
};
