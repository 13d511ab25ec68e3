/** Azure DevOps Services, through Microsoft Entra: the one way Microsoft still lets new applications register for. */
import type { ConnectionPreset } from "../../../contract/secret/connection.ts";

/** Entra's id of Azure DevOps. */
const resource = "499b84ac-1321-427f-aa17-267ca6975798";
const entra = "https://login.microsoftonline.com/organizations/oauth2/v2.0";

export const azureDevops: ConnectionPreset = {
  name: "azure-devops",
  title: "Azure DevOps",
  authorizationEndpoint: `${entra}/authorize`,
  tokenEndpoint: `${entra}/token`,
  deviceEndpoint: `${entra}/devicecode`,
  scopes: [`${resource}/vso.code_write`, "offline_access"],
  parameters: {},
  registration:
    "Register an application at https://entra.microsoft.com (App registrations) with the delegated permission Azure DevOps vso.code_write and public client flows allowed; for a sign-in without --device also the mobile and desktop redirect http://127.0.0.1/callback.",
  hosts: ["dev.azure.com"],
  can: [
    "read and push branches of the repositories you may push to",
    "open, comment on and complete pull requests",
  ],
  cannot: [
    "change work items, pipelines, permissions or policies",
    "create or delete repositories and projects",
    "be used with a personal Microsoft account",
  ],
};
