export const VaultPage = () => <p>Not here yet.</p>;
