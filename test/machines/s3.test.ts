// Stored files once more, in OpenStack Swift.
import '../support/environment.js';
import '../support/swift-environment.js';
import '../files/stored-files.test.js';
