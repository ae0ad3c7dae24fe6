/** Variables with which npm finds its programs, folders, registry, proxy and certificates, and the token that a registry may ask for. */
const passed = new Set([
  ...["path", "pathext", "comspec", "systemroot", "windir", "home", "userprofile", "appdata", "localappdata", "user", "logname", "lang"],
  ...["lc_all", "lc_ctype", "tz", "tmpdir", "tmp", "temp", "xdg_cache_home", "xdg_config_home", "npm_token"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy", "ssl_cert_file", "ssl_cert_dir", "node_extra_ca_certs"],
  ...["registry", "cache", "userconfig", "globalconfig", "proxy", "https_proxy", "noproxy", "ca", "cafile", "strict_ssl"].map(
    (name) => `npm_config_${name}`,
  ),
]);

/** The environment of npm: of the studio's own variables few, so that no key of engines or of the studio reaches it. */
export const npmEnvironment = (own: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(own).filter(([name]) => passed.has(name.toLowerCase())));
