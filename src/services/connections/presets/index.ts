/** The services whose sign-in is known: data, each with the least it needs. */
import type { ConnectionPreset } from "../../../contract/secret/connection.ts";
import { atlassian } from "./atlassian.ts";
import { azureDevops } from "./azure-devops.ts";
import { githubApp } from "./github-app.ts";
import { google } from "./google.ts";

export const presets: readonly ConnectionPreset[] = [githubApp, azureDevops, atlassian, google];
