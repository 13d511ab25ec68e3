/** SECURITY: zod makes functions from text where it may. This page may not, and trying is reported as an attack. */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
