/** Version of the link. On its own, so that boxd can say it without loading the schemas. */
export const linkProtocol = 1;
