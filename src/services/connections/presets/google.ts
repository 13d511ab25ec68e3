/** Google Drive, only what was made with the token itself: the one scope that opens nothing which was there before. */
import type { ConnectionPreset } from "../../../contract/secret/connection.ts";

export const google: ConnectionPreset = {
  name: "google",
  title: "Google Drive (own files)",
  issuer: "https://accounts.google.com",
  authorizationEndpoint: "https://accounts.google.com/o/oauth2/v2/auth",
  tokenEndpoint: "https://oauth2.googleapis.com/token",
  deviceEndpoint: "https://oauth2.googleapis.com/device/code",
  scopes: ["https://www.googleapis.com/auth/drive.file"],
  // Without these there is no refresh token, or none the second time.
  parameters: { access_type: "offline", prompt: "consent" },
  registration:
    "Create an OAuth client of the type desktop app at https://console.cloud.google.com/apis/credentials; keep its secret with: agentbox vault set google-app, and use --client-secret-from google-app.",
  hosts: ["www.googleapis.com"],
  can: ["create files in your Drive", "read and change the files it has created"],
  cannot: [
    "see or change any other file of your Drive",
    "read mail, calendars or contacts",
    "use Google Cloud projects",
  ],
};
