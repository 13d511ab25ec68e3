/**
 * The variables that tell programs in a box the way out. Programs that ignore them reach the same gate over plain TCP.
 */
const proxy = "http://127.0.0.1:3128";
/** Every address at which a box reaches itself. A range for programs that read one, and single addresses for the rest. */
const noProxy = "localhost,.localhost,127.0.0.0/8,127.0.0.1,127.0.0.2,127.0.1.1,0.0.0.0,::1";

/** Where programs look for the certificates to trust; in a box, the gate's own is among them. */
export const trustBundle = "/etc/ssl/certs/ca-certificates.crt";

export const boxEnv: Readonly<Record<string, string>> = {
  HTTP_PROXY: proxy,
  HTTPS_PROXY: proxy,
  ALL_PROXY: proxy,
  NO_PROXY: noProxy,
  http_proxy: proxy,
  https_proxy: proxy,
  all_proxy: proxy,
  no_proxy: noProxy,
  SSL_CERT_FILE: trustBundle,
  NODE_EXTRA_CA_CERTS: trustBundle,
  REQUESTS_CA_BUNDLE: trustBundle,
  CURL_CA_BUNDLE: trustBundle,
  GIT_SSL_CAINFO: trustBundle,
  PIP_CERT: trustBundle,
  // pip takes a refusal for an accident and asks again, five times within eight seconds; it prints the reason each time.
  PIP_RETRIES: "2",
  CARGO_HTTP_CAINFO: trustBundle,
  AWS_CA_BUNDLE: trustBundle,
  DENO_CERT: trustBundle,
};
